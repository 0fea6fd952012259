// Finds and formats validation errors ("faults").
import type { Fault, VaultError } from "connector-vault/slim";

/** Returns the first error of a parameter or body member as a sentence. */
export function findFaultMessage(faults: readonly Fault[], location: string): string | undefined {
  const fault = faults.find(
    ({ parameter, pointer }) => parameter === location || pointer === location || pointer?.startsWith(`${location}/`),
  );
  return fault && formatFault(fault);
}

/** Formats a fault as a sentence, without the name of the field: the message appears next to it. */
export function formatFault({ detail, suggestion }: Fault): string {
  const text = detail.replace(/^`[^`]*` /, "").replaceAll("`", "");
  const isNamed = suggestion !== undefined && text.split(/[^\w-]+/).includes(suggestion);
  const message = suggestion && !isNamed ? `${text}; did you mean ${suggestion}?` : `${text}.`;
  return message.startsWith("is ") ? `This ${message}` : message.charAt(0).toUpperCase() + message.slice(1);
}

/** Returns the faults of a rejected request; empty for other errors. */
export const getFaults = (error: unknown): readonly Fault[] => (error as Partial<VaultError> | undefined)?.errors ?? [];
