/**
 * Which mutants the compiler refuses: these do not run.
 *
 * All mutants are files of one program, so that types are read once. What a mutant no longer uses is no error here.
 */
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { cacheFolder } from './modules.ts'
import type { GeneratedMutant } from './mutants.ts'

const configPath = fileURLToPath(new URL('../../../../tsconfig.json', import.meta.url))
const cachePath = join(cacheFolder, 'types.json')

/** The ids of the mutants that do not compile, each with the first error. Results are remembered by text. */
export function refusedByCompiler(mutants: readonly GeneratedMutant[]): Map<string, string> {
  const known = readKnown()
  const digests = new Map(mutants.map((mutant) => [mutant.id, digestOf(mutant)]))
  const unknown = mutants.filter(({ id }) => known[digests.get(id) ?? ''] === undefined)
  for (const [id, error] of check(unknown)) known[digests.get(id) ?? ''] = error
  mkdirSync(cacheFolder, { recursive: true })
  writeFileSync(cachePath, JSON.stringify(known))
  return new Map(
    mutants.flatMap(({ id }) => {
      const error = known[digests.get(id) ?? ''] ?? ''
      return error === '' ? [] : [[id, error] as const]
    }),
  )
}

function readKnown(): Record<string, string> {
  return existsSync(cachePath) ? (JSON.parse(readFileSync(cachePath, 'utf8')) as Record<string, string>) : {}
}

function digestOf({ path, text }: GeneratedMutant): string {
  return createHash('sha256').update(`${path}\n${text}`).digest('hex').slice(0, 24)
}

/** The first error of each mutant, or an empty text. */
function check(mutants: readonly GeneratedMutant[]): Map<string, string> {
  const files = new Map(mutants.map((mutant, index) => [join(dirname(mutant.path), `mutant-${index}.ts`), mutant]))
  const { config } = ts.readConfigFile(configPath, (path) => ts.sys.readFile(path)) as { config: object }
  const { options } = ts.parseJsonConfigFileContent({ ...config, files: [], include: [] }, ts.sys, dirname(configPath))
  const checked: ts.CompilerOptions = {
    ...options,
    incremental: false,
    noUnusedLocals: false,
    noUnusedParameters: false,
    allowUnreachableCode: true,
  }
  delete checked.tsBuildInfoFile
  const host = ts.createCompilerHost(checked)
  const { fileExists, readFile, getSourceFile } = host
  host.fileExists = (path) => files.has(path) || fileExists.call(host, path)
  host.readFile = (path) => files.get(path)?.text ?? readFile.call(host, path)
  host.getSourceFile = (path, ...rest) => {
    const mutant = files.get(path)
    return mutant ? ts.createSourceFile(path, mutant.text, rest[0]) : getSourceFile.call(host, path, ...rest)
  }
  const program = ts.createProgram([...files.keys()], checked, host)
  return new Map(
    [...files].map(([path, { id }]) => {
      const file = program.getSourceFile(path)
      const [error] = [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)]
      return [id, error ? ts.flattenDiagnosticMessageText(error.messageText, ' ') : '']
    }),
  )
}
