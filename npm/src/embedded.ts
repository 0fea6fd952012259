// The default entry contains the module as text: no bundler has to know about it.
import { frequent, text } from "module";
import { start } from "./core.js";
import { decode } from "./decode.js";

/** Starts the module. */
export const ready = () => start(() => decode({ frequent, text }));
