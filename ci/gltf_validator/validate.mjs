// Holds files against the Khronos glTF validator: `node validate.mjs FILE.glb...`.
// Exit 1 when one has an error; warnings are counted and shown.
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { validateBytes, version } from 'gltf-validator';

const SHOWN = 10;
const LEVELS = ['error', 'warning'];
const files = process.argv.slice(2);
let errors = 0;
for (const file of files) {
  const bytes = new Uint8Array(await readFile(file));
  // The files are whole in themselves: one that names another file is wrong.
  const refuse = (uri) => Promise.reject(new Error(`names ${uri}`));
  const options = { uri: basename(file), format: 'glb', maxIssues: 0, externalResourceFunction: refuse };
  const { issues, info } = await validateBytes(bytes, options);
  errors += issues.numErrors;
  const [found, warned] = [`${issues.numErrors} errors`, `${issues.numWarnings} warnings`];
  console.log(`${basename(file)}: ${found}, ${warned}, ${issues.numInfos + issues.numHints} remarks, ${info.totalVertexCount} vertices`);
  const grave = issues.messages.filter(({ severity }) => severity < LEVELS.length);
  for (const { severity, code, message, pointer } of grave.slice(0, SHOWN)) {
    console.log(`  ${LEVELS[severity]} ${code} ${pointer ?? ''}: ${message}`);
  }
}
console.log(`glTF validator ${version()}: ${files.length} files, ${errors} errors`);
process.exit(errors === 0 && files.length > 0 ? 0 : 1);
