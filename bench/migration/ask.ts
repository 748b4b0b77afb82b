/** `ask.ts URL [method]`: prints what a server says; for servers in another network namespace. */
const [url, method = 'GET'] = process.argv.slice(2) as [string, string?];
process.stdout.write(await (await fetch(url, { method })).text());
