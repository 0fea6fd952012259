// What views keep in memory beyond their own life. Whoever signs out means that to go, too.

const forgetters: (() => void)[] = [];

/** Lets something be forgotten whenever somebody signs out. */
export const onSignOut = (forget: () => void) => void forgetters.push(forget);

export function forgetAll() {
  for (const forget of forgetters) forget();
}
