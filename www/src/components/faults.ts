// Finds and formats the validation errors of a field.
import type { Fault, VaultError } from "connector-vault/slim";

/** The message for a parameter or body member, as a sentence. */
export function faultAt(faults: readonly Fault[], location: string): string | undefined {
  const fault = faults.find(
    ({ parameter, pointer }) => parameter === location || pointer === location || pointer?.startsWith(`${location}/`),
  );
  return fault && faultMessage(fault);
}

/** The fault as a sentence. It appears next to its field, so the field's name is removed. */
export function faultMessage({ detail, suggestion }: Fault): string {
  const text = detail.replace(/^`[^`]*` /, "").replaceAll("`", "");
  const isNamed = suggestion !== undefined && text.split(/[^\w-]+/).includes(suggestion);
  const message = suggestion && !isNamed ? `${text}; did you mean ${suggestion}?` : `${text}.`;
  return message.startsWith("is ") ? `This ${message}` : message.charAt(0).toUpperCase() + message.slice(1);
}

/** The faults of a rejected request. */
export const faultsOf = (error: unknown): readonly Fault[] => (error as Partial<VaultError> | undefined)?.errors ?? [];
