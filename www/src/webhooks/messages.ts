const ERROR_LABELS: Record<string, string> = {
  unreachable: "the receiver can't be reached",
  timed_out: "the receiver did not respond in time",
  address_refused: "the service does not send to this address",
  webhook_inactive: "the webhook was paused or disabled",
};

export const errorLabel = (error: string | null) =>
  error === null ? "there was no response" : (ERROR_LABELS[error] ?? error);
