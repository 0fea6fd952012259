// Finds and formats the validation errors of a field.
import type { Fault, VaultError } from "connector-vault/slim";

/** The message for a parameter or body member, as a sentence. */
export function faultAt(faults: readonly Fault[], location: string): string | undefined {
  const found = faults.find(
    ({ parameter, pointer }) => parameter === location || pointer === location || pointer?.startsWith(`${location}/`),
  );
  return found && faultMessage(found);
}

/** The fault as a sentence. It appears next to its field, so the field's name is removed. */
export function faultMessage({ detail, suggestion }: Fault): string {
  const rest = detail.replace(/^`[^`]*` /, "").replaceAll("`", "");
  const isNamed = suggestion !== undefined && rest.split(/[^\w-]+/).includes(suggestion);
  const message = suggestion && !isNamed ? `${rest}; did you mean ${suggestion}?` : `${rest}.`;
  return message.startsWith("is ") ? `This ${message}` : message.charAt(0).toUpperCase() + message.slice(1);
}

/** The faults of a rejected request. */
export const faultsOf = (error: unknown): readonly Fault[] => (error as Partial<VaultError> | undefined)?.errors ?? [];
