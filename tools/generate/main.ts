/**
 * Writes the generated modules of the built-in kinds: `node tools/run.mjs tools/generate/main.ts --from FOLDER`.
 *
 * FOLDER contains the published API documents (see source.ts). With `--check` nothing is written, and the exit code is
 * 1 when a file would change.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { render } from './render.ts'
import { readPublished } from './source.ts'

const output = join(dirname(dirname(dirname(fileURLToPath(import.meta.url)))), 'packages/builtins/src/generated')

const { values } = parseArgs({ options: { from: { type: 'string' }, check: { type: 'boolean', default: false } } })

if (values.from === undefined) {
  console.error('Usage: node tools/run.mjs tools/generate/main.ts --from FOLDER [--check]')
  process.exitCode = 2
} else {
  process.exitCode = generate(values.from, values.check)
}

function generate(from: string, check: boolean): number {
  const changed = [...render(readPublished(from))].filter(([name, text]) => current(name) !== text)
  if (!check) {
    mkdirSync(output, { recursive: true })
    for (const [name, text] of changed) writeFileSync(join(output, name), text)
  }
  for (const [name, text] of changed)
    console.log(`${check ? 'differs' : 'written'}: ${name}, ${text.length} characters`)
  return check && changed.length > 0 ? 1 : 0
}

function current(name: string): string | undefined {
  const path = join(output, name)
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined
}
