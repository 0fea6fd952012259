// What the service's rules have against what was filled in, for the field that it is about.
import type { Fault, VaultError } from "connector-vault/slim";

/** What is wrong with a parameter, or with the member of a body that a pointer leads to, in a sentence of its own. */
export function faultAt(faults: readonly Fault[], location: string): string | undefined {
  const found = faults.find(
    ({ parameter, pointer }) => parameter === location || pointer === location || pointer?.startsWith(`${location}/`),
  );
  return found && faultMessage(found);
}

/** The sentence of a fault. It stands at its field, so it begins without the field's name. */
export function faultMessage({ detail, suggestion }: Fault): string {
  const rest = detail.replace(/^`[^`]*` /, "").replaceAll("`", "");
  const isNamed = suggestion !== undefined && rest.split(/[^\w-]+/).includes(suggestion);
  const message = suggestion && !isNamed ? `${rest}; did you mean ${suggestion}?` : `${rest}.`;
  return message.charAt(0).toUpperCase() + message.slice(1);
}

/** The faults that a refused call tells. */
export const faultsOf = (error: unknown): readonly Fault[] => (error as Partial<VaultError> | undefined)?.errors ?? [];
