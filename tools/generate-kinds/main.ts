/**
 * Writes the typed built-in kinds: `node tools/run.mjs tools/generate-kinds/main.ts --from FOLDER`.
 *
 * FOLDER contains the published API documents (see tools/generate/source.ts). With `--check` nothing is written, and
 * the exit code is 1 when a file would change. Finally prints the exports for package.json.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { readPublished } from '../generate/source.ts'
import { renderKinds } from './render.ts'

const output = join(dirname(dirname(dirname(fileURLToPath(import.meta.url)))), 'packages/evenkeel/src/kinds/generated')

const { values } = parseArgs({ options: { from: { type: 'string' }, check: { type: 'boolean', default: false } } })

if (values.from === undefined) {
  console.error('Usage: node tools/run.mjs tools/generate-kinds/main.ts --from FOLDER [--check]')
  process.exitCode = 2
} else {
  process.exitCode = generate(values.from, values.check)
}

function generate(from: string, check: boolean): number {
  const modules = renderKinds(readPublished(from))
  const changed = [...modules].filter(([name, text]) => current(name) !== text)
  for (const [name, text] of changed) {
    if (!check) {
      mkdirSync(dirname(join(output, name)), { recursive: true })
      writeFileSync(join(output, name), text)
    }
    console.log(`${check ? 'differs' : 'written'}: ${name}, ${text.length} characters`)
  }
  for (const name of modules.keys()) {
    const path = name.replace(/\.ts$/, '')
    console.log(
      `    "./kinds/${path}": { "source": "./src/kinds/generated/${name}", "default": "./dist/kinds/generated/${path}.js" },`,
    )
  }
  return check && changed.length > 0 ? 1 : 0
}

function current(name: string): string | undefined {
  const path = join(output, name)
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined
}
