/** A decider in WebAssembly by hand: memory of one page, input returns 0, decide runs `body`. */
export function wasm(
  body: readonly number[],
  { most = 1, imports = false, maximum = true, wants = '' } = {},
): Uint8Array {
  const section = (id: number, ...bytes: number[]) => [id, bytes.length, ...bytes];
  const name = (text: string) => [text.length, ...Buffer.from(text)];
  const code = [0, ...body, 0x0b];
  const wanted = wants === '' ? [] : [...name(wants), 0, 0];
  const exported = [...name('memory'), 2, 0, ...name('input'), 0, 0, ...name('decide'), 0, 1, ...wanted];
  return Uint8Array.from([
    ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, 2, 0x60, 1, 0x7f, 1, 0x7f, 0x60, 2, 0x7f, 0x7f, 1, 0x7f),
    ...(imports ? section(2, 1, ...name('env'), ...name('abort'), 0, 0) : []),
    ...section(3, 2, 0, 1),
    ...section(5, 1, ...(maximum ? [1, 1, most] : [0, 1])),
    ...section(7, wants === '' ? 3 : 4, ...exported),
    ...section(10, 2, 4, 0, 0x41, 0, 0x0b, code.length, ...code),
  ]);
}
