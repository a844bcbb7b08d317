/**
 * The files of `evenkeel run`: finds them, reads each with its reader, imports modules, and puts the objects together.
 */
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import type { ControllerDeclaration } from 'evenkeel/controller'
import type { FileObject, Finding } from '@evenkeel/workloads'
import type { Invocation } from '../command.ts'
import { Failure } from '../failure.ts'
import { loadModule, type UserModule, type WorkloadsPackage } from '../modules.ts'
import { nearestWords } from '../parse.ts'
import { safeLine } from '../terminal.ts'

export interface LoadedApplication {
  /** As they are shown. */
  readonly files: readonly string[]
  readonly objects: readonly FileObject[]
  readonly modules: readonly UserModule[]
}

interface LoadOptions {
  readonly call: Invocation
  readonly workloads: WorkloadsPackage
  /** When `run` of a module returns. */
  readonly until: Promise<void>
}

/** @throws {Failure} `bad-file` with every mistake, `usage` */
export async function loadApplication({ call, workloads, until }: LoadOptions): Promise<LoadedApplication> {
  const { io, values } = call
  const files = call.words.length > 0 ? call.words : [findFile(io.cwd, workloads)]
  const objects: FileObject[] = []
  const modules: UserModule[] = []
  const warnings: Finding[] = []
  const errors: Finding[] = []
  for (const file of files) {
    if (workloads.formatOf(file) === 'module') {
      const module = await loadModule(file, { cwd: io.cwd, until, hasObjects: true })
      modules.push(module)
      // A module with the controllers of these kinds has said where their paths begin.
      const folder = hasWorkloads(module.controllers) ? undefined : folderOf(file, io.cwd)
      const moved = (module.objects as readonly FileObject['object'][]).map((one) => workloads.inFolder(one, folder))
      objects.push(...moved.map((object) => ({ object, file, line: 1 })))
      continue
    }
    const contents = await readOne(file, { io, workloads })
    objects.push(...contents.objects)
    warnings.push(...contents.warnings)
    errors.push(...contents.errors)
  }
  const only = values
    .text('only')
    ?.split(',')
    .map((name) => name.trim())
  const { objects: chosen, unknown } = only ? workloads.selectWorkloads(objects, only) : { objects, unknown: [] }
  for (const warning of warnings) io.stderr.write(`Warning: ${safeLine(workloads.formatFinding(warning))}\n`)
  const mistakes = [...errors, ...workloads.checkApplication(chosen)].map(workloads.formatFinding)
  if (mistakes.length > 0)
    throw new Failure('bad-file', mistakes.join('\n'), { hint: `correct ${files.join(', ')}; nothing was started` })
  if (unknown.length > 0) throw unknownNames(unknown, objects)
  return { files, objects: chosen, modules }
}

function unknownNames(unknown: readonly string[], objects: readonly FileObject[]): Failure {
  const names = objects.map(({ object }) => object.metadata.name)
  const meant = unknown.flatMap((name) => nearestWords(name, names))
  return new Failure('usage', `--only: no workload is called ${unknown.join(', ')}: there are ${names.join(', ')}`, {
    hint: meant.length > 0 ? `--only ${meant.join(',')}` : undefined,
  })
}

/** @throws {Failure} `bad-file` when there is none */
function findFile(cwd: string, { applicationFiles }: WorkloadsPackage): string {
  const file = applicationFiles.find((name) => existsSync(join(cwd, name)))
  if (file !== undefined) return file
  throw new Failure('bad-file', `there is none of ${applicationFiles.join(', ')} in ${cwd}`, {
    hint: 'evenkeel run FILE',
  })
}

async function readOne(
  file: string,
  { io, workloads }: { readonly io: Invocation['io']; readonly workloads: WorkloadsPackage },
) {
  const path = resolve(io.cwd, file)
  const dotenvPath = join(dirname(path), '.env')
  const dotenv = existsSync(dotenvPath) ? await readFile(dotenvPath, 'utf8') : undefined
  return workloads.readApplicationFile(await readFile(path, 'utf8'), {
    file,
    folder: folderOf(file, io.cwd),
    env: { ...dotenvOf(dotenv, { workloads, file: relative(io.cwd, dotenvPath) }), ...io.env },
    ...(dotenv !== undefined && { dotenv }),
  })
}

/** The folder of a file, seen from where the command runs; undefined when it is the same. */
function folderOf(file: string, cwd: string): string | undefined {
  const folder = relative(cwd, dirname(resolve(cwd, file)))
  return folder === '' ? undefined : folder
}

/** Whether the controllers of `@evenkeel/workloads` are among these. */
export function hasWorkloads(controllers: readonly Pick<ControllerDeclaration, 'for'>[]): boolean {
  return controllers.some(({ for: kind }) => kind.kind === 'Process' && kind.group === 'workloads.evenkeel.dev')
}

/** @throws {Failure} `bad-file` */
function dotenvOf(
  text: string | undefined,
  { workloads, file }: { readonly workloads: WorkloadsPackage; readonly file: string },
): Readonly<Record<string, string>> {
  try {
    return workloads.readDotenv(text, file)
  } catch (error) {
    throw new Failure('bad-file', (error as Error).message, { cause: error })
  }
}
