// Runs the compiled `program.ts`, whose path is the argument.
const { names } = await import(process.argv[2]);
console.log(JSON.stringify(await names(process.env.VAULT_URL, process.env.VAULT_KEY)));
