/*
 * A preloaded module that throws uncaught errors on SIGUSR1. The secrets are in
 * their messages.
 */
Deno.addSignalListener("SIGUSR1", () => {
  Promise.reject(new Error("A stray rejection of swordfish-swordfish"));
  Promise.reject(undefined);
  setTimeout(() => {
    throw new TypeError("A stray error of swordfish-swordfish");
  });
});
