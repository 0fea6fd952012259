// Test environments and edge runtimes hand over objects of another realm, which `instanceof` doesn't recognize.

/** Whether a value is of a class of the platform, in whichever realm it was created. */
export const isOf = (name: string, value: unknown): boolean =>
  Object.prototype.toString.call(value) === `[object ${name}]`;
