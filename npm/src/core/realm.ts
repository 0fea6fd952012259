// Type checks across realms: in test environments and edge runtimes, `instanceof` fails for objects of another realm.

/** Whether a value is an instance of a built-in class, of any realm. */
export const isOf = (name: string, value: unknown): boolean =>
  Object.prototype.toString.call(value) === `[object ${name}]`;
