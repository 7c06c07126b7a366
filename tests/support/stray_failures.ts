/*
 * Loaded before the service, it fails at SIGUSR1 where nobody looks. What is
 * secret in a failure is in its message.
 */
Deno.addSignalListener("SIGUSR1", () => {
  Promise.reject(new Error("A stray rejection of swordfish-swordfish"));
  Promise.reject(undefined);
  setTimeout(() => {
    throw new TypeError("A stray error of swordfish-swordfish");
  });
});
