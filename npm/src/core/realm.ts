// Type checks across realms. In test environments and edge runtimes, `instanceof` fails for objects of another realm.

/** Whether a value is an instance of the built-in class `name`, from any realm. */
export const isInstanceOf = (name: string, value: unknown): boolean =>
  Object.prototype.toString.call(value) === `[object ${name}]`;
