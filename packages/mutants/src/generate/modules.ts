/**
 * Sources of mutants as modules that this process can import.
 *
 * A module is a file in the cache folder of the repository, named after its content. Packages resolve from there as from
 * the sources; relative imports become absolute.
 */
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import ts from 'typescript'
import type { Subject } from '../mutant.ts'

/** Git and the linter ignore it. */
export const cacheFolder = fileURLToPath(new URL('../../../../.cache/mutants/', import.meta.url))

/** The JavaScript of a source whose relative imports start from `path`. */
export function toJavaScript(text: string, path: string): string {
  const { outputText } = ts.transpileModule(text, {
    compilerOptions: { target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.ESNext, verbatimModuleSyntax: true },
  })
  return outputText.replaceAll(
    /(?<=from ['"])\.[^'"]+(?=['"])/g,
    (relative) => pathToFileURL(resolve(dirname(path), relative)).href,
  )
}

/** Loads a source. @throws {Error} when it does not compile, load, or has no program. */
export async function loadSource(text: string, path: string): Promise<Subject> {
  const javaScript = toJavaScript(text, path)
  const digest = createHash('sha256').update(javaScript).digest('hex').slice(0, 24)
  const file = `${cacheFolder}${digest}.mjs`
  if (!existsSync(file)) {
    mkdirSync(cacheFolder, { recursive: true })
    // Another process may write the same file.
    writeFileSync(`${file}.${process.pid}`, javaScript)
    renameSync(`${file}.${process.pid}`, file)
  }
  const { controllers, scenario } = (await import(pathToFileURL(file).href)) as Partial<Subject>
  if (!controllers || !scenario) throw new Error(`${path} needs to export controllers and scenario`)
  return { controllers, scenario }
}
