/**
 * The fixed messages of the log, except those about a request (`request_log.ts`). OPERATORS.md explains
 * each, with what to do.
 */
export const EVENTS = {
  listening: "The service is listening",
  stopping: "The service is stopping",
  unfinished: "The service is stopping with unfinished requests",
  stopped: "The service has stopped",
  notReady: "The database is not ready: trying again",
  noOrganization: "The database has no organization: nobody can use the API yet",
  unusedDemoKey: "Nobody has used a key of the demo organization, which stderr shows once",
  noDemoKey: "The demo organization has no key: the next start creates one",
  replicaDown: "The replica is down: the primary serves all reads",
  replicaUp: "The replica is up again",
  spreadingFailed: "Spreading renames to products has failed: trying again",
  deletingFailed: "Deleting old versions of products has failed: trying again",
  notAccepting: "Cannot accept connections: listening again",
  keyUseNotRecorded: "Could not record the last use of an API key",
  clientStopped: "A client stopped reading its response",
  linesDropped: "Log lines were dropped",
  webhooksDelayed: "Webhooks are delayed: trying again",
  webhookDisabled: "A webhook is disabled",
  defect: "The service failed",
} as const;
