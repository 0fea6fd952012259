const ERROR_LABELS: Record<string, string> = {
  unreachable: "the receiver can't be reached",
  timed_out: "the receiver did not answer in time",
  address_refused: "the service may not send anything to this address",
  webhook_inactive: "the webhook was paused or disabled",
};

export const errorLabel = (error: string | null) =>
  error === null ? "there was no answer" : (ERROR_LABELS[error] ?? error);
