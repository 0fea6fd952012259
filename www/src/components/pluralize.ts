/** Formats a count with its noun: "1 action", "2,000 actions". */
export const pluralize = (count: number, noun: string) =>
  `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
