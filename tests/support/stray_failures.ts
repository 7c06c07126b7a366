/*
 * Loaded before the service, it throws uncaught errors at SIGUSR1. What is
 * secret in a failure is in its message.
 */
Deno.addSignalListener("SIGUSR1", () => {
  Promise.reject(new Error("A stray rejection of swordfish-swordfish"));
  Promise.reject(undefined);
  setTimeout(() => {
    throw new TypeError("A stray error of swordfish-swordfish");
  });
});
