import { ESLint } from 'eslint';
import { json } from 'node:stream/consumers';

/** @typedef {{ file: string, code: string }} Source */

// Reads sources from stdin and says of each which rules of the project it would break in that file.
const eslint = new ESLint();
const sources = /** @type {Source[]} */ (await json(process.stdin));
const broken = [];
for (const { file, code } of sources) {
  const [result] = await eslint.lintText(code, { filePath: file });
  broken.push([...new Set(result?.messages.map(({ ruleId }) => ruleId))]);
}
process.stdout.write(JSON.stringify(broken));
