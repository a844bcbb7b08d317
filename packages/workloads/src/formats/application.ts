/**
 * The files of an application: which reader a file has, what is read by default, and what only shows when all objects are
 * together.
 *
 *   evenkeel.yaml, *.json, any other YAML     objects            readManifestFile
 *   Procfile, Procfile.dev                    processes          readProcfile
 *   process-compose.yaml                      processes          readProcessComposeFile
 *   compose.yaml, docker-compose.yml          containers         readComposeFile
 *   app.ts                                    a module: the command line imports it
 */
import { basename } from 'node:path'
import { parseEnvFile } from '../environment.ts'
import { readComposeFile } from './compose.ts'
import { Findings, type FileContents, type FileObject, type Finding } from './finding.ts'
import type { Environment } from './interpolation.ts'
import { readManifestFile } from './manifest.ts'
import { readProcessComposeFile } from './process-compose.ts'
import { readProcfile } from './procfile.ts'
import { workloadsVersion } from './shapes.ts'

/** What a folder is searched for, the first one that exists. */
export const applicationFiles = [
  'evenkeel.yaml',
  'evenkeel.yml',
  'app.ts',
  'process-compose.yaml',
  'process-compose.yml',
  'compose.yaml',
  'compose.yml',
  'docker-compose.yaml',
  'docker-compose.yml',
  'Procfile',
] as const

export type ApplicationFormat = 'module' | 'procfile' | 'process-compose' | 'compose' | 'manifest'

/** By the name of a file. */
export function formatOf(path: string): ApplicationFormat {
  const name = basename(path).toLowerCase()
  if (/\.[cm]?[jt]s$/.test(name)) return 'module'
  if (/^procfile(?:\.|$)/.test(name)) return 'procfile'
  if (/^process-compose(?:\.[\w.-]*)?\.ya?ml$/.test(name)) return 'process-compose'
  if (/^(?:docker-)?compose(?:\.[\w.-]*)?\.ya?ml$/.test(name)) return 'compose'
  return 'manifest'
}

export interface ApplicationFileOptions {
  /** As it is shown. */
  readonly file: string
  /** Of the file, from where relative paths begin. @default the same */
  readonly folder?: string | undefined
  /** What stands for variables in values. @default nothing is set */
  readonly env?: Environment
  /** The text of `.env` beside the file. @default there is none */
  readonly dotenv?: string | undefined
}

/**
 * Reads one file of an application by its name; a module is not a file to read.
 *
 * @example
 * const { objects, warnings } = await readApplicationFile('web: node server.js', { file: 'Procfile' })
 */
export async function readApplicationFile(text: string, options: ApplicationFileOptions): Promise<FileContents> {
  switch (formatOf(options.file)) {
    case 'procfile':
      return readProcfile(text, options)
    case 'process-compose':
      return readProcessComposeFile(text, options)
    case 'compose':
      return readComposeFile(text, options)
    default:
      return readManifestFile(text, options)
  }
}

/** The variables of a file `.env`, by name. @throws an error that names the line */
export function readDotenv(text: string | undefined, file: string): Readonly<Record<string, string>> {
  return Object.fromEntries(parseEnvFile(text ?? '', file).map(({ name, value }) => [name, value]))
}

const replicasMax = 1000

interface SpecFields {
  readonly replicas?: unknown
  readonly dependsOn?: readonly { readonly kind?: string; readonly name?: string }[]
  readonly ports?: readonly { readonly port?: number; readonly hostPort?: number }[]
  readonly cwd?: string
}

/** Mistakes that only show when all objects of an application are together. */
export function checkApplication(objects: readonly FileObject[]): readonly Finding[] {
  const findings = new Findings()
  const names = new Map<string, FileObject>()
  const ports = new Map<number, FileObject>()
  for (const one of objects) {
    const { object, file, line } = one
    const { kind, metadata } = object
    const at = (path: string) => ({ file, line, path })
    const key = `${object.apiVersion} ${kind} ${metadata.namespace ?? ''}/${metadata.name}`
    const twin = names.get(key)
    if (twin)
      findings.error(
        at('metadata.name'),
        `${kind} ${metadata.name} is there twice, first in ${twin.file}:${twin.line}: rename one`,
      )
    names.set(key, twin ?? one)
    if (object.apiVersion !== workloadsVersion) continue
    const spec = (object.spec ?? {}) as SpecFields
    checkSpec(object, { spec, at, findings })
    for (const [index, { port, hostPort = port ?? 0 }] of listOf(spec.ports).entries()) {
      const holder = ports.get(hostPort)
      if (holder && holder !== one)
        findings.error(
          at(`spec.ports[${index}]`),
          `port ${hostPort} belongs to ${holder.object.kind} ${holder.object.metadata.name} (${holder.file}:${holder.line}): choose another one, or 0 for any`,
        )
      if (hostPort > 0) ports.set(hostPort, one)
    }
  }
  return findings.errors
}

function checkSpec(
  { kind, metadata }: FileObject['object'],
  {
    spec,
    at,
    findings,
  }: {
    readonly spec: SpecFields
    readonly at: (path: string) => Omit<Finding, 'message'>
    readonly findings: Findings
  },
): void {
  const self = listOf(spec.dependsOn).findIndex(
    ({ name, kind: other = kind }) => name === metadata.name && other === kind,
  )
  if (self >= 0) findings.error(at(`spec.dependsOn[${self}]`), `${kind} ${metadata.name} depends on itself: remove it`)
  if (typeof spec.replicas === 'number' && spec.replicas > replicasMax)
    findings.error(at('spec.replicas'), `must be at most ${replicasMax}, got ${spec.replicas}`)
  if (process.platform !== 'win32' && /^[A-Za-z]:[\\/]/.test(String(spec.cwd ?? '')))
    findings.error(
      at('spec.cwd'),
      `${JSON.stringify(spec.cwd)} is a path of Windows: write it with slashes, relative to the project`,
    )
}

/** Whatever a file says: the server has not validated it yet. */
function listOf<T extends object>(value: readonly T[] | undefined): readonly T[] {
  return Array.isArray(value) ? (value as readonly T[]).filter((item) => typeof item === 'object' && item !== null) : []
}
