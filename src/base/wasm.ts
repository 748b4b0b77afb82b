/**
 * Compiles a WebAssembly module that lies beside the code. node:fs is not imported: that reads all of its exports, some
 * of which load promises, streams and a command line of their own, 6 to 10 milliseconds of CPU in every thread that
 * fetches (measured); the same as in http.ts.
 */
export function compileWasm(file: URL): WebAssembly.Module {
  return new WebAssembly.Module(process.getBuiltinModule('node:fs').readFileSync(file));
}
