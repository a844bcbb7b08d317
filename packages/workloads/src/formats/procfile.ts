/**
 * `Procfile`: one process per line, `NAME: COMMAND`.
 *
 *   web: node server.js --port $PORT     Process web: /bin/sh runs the command; PORT is a free port, the same in every run
 *   # comment                            nothing
 *
 * Variables of `.env` in the same folder are read when a process starts. If `.env` has a `PORT`, it is that of the first
 * process, and each following one gets a port that is 100 higher, as other runners of Procfiles do it.
 */
import { parseEnvFile } from '../environment.ts'
import { Findings, type FileContents, type FileObject } from './finding.ts'
import { objectName, workloadObject } from './shapes.ts'

interface ProcfileOptions {
  readonly file: string
  /** Of the file, from where relative paths begin. @default the same */
  readonly folder?: string | undefined
  /** The text of `.env` beside it. @default there is none */
  readonly dotenv?: string | undefined
}

const portStep = 100

export function readProcfile(text: string, { file, folder, dotenv }: ProcfileOptions): FileContents {
  const findings = new Findings()
  const basePort = basePortOf(dotenv, findings)
  const objects: FileObject[] = []
  const names = new Map<string, number>()
  for (const [index, raw] of text
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/)
    .entries()) {
    const place = { file, line: index + 1, path: '' }
    if (/^\s*(?:#|$)/.test(raw)) continue
    const [, name = '', command = ''] = /^([A-Za-z0-9_-]+)\s*:\s*(.*?)\s*$/.exec(raw) ?? []
    const called = objectName(name)
    if (called === undefined || command === '') {
      findings.error(place, 'write NAME: COMMAND, or # before a comment; a name has letters, digits, - and _')
      continue
    }
    const earlier = names.get(called)
    if (earlier !== undefined) {
      findings.error(place, `${name} is there twice, first in line ${earlier}: rename one`)
      continue
    }
    if (called !== name) findings.warn(place, `${name} is called ${called}: objects have names in lower case without _`)
    const fixed = basePort === undefined ? {} : { port: basePort + portStep * names.size }
    names.set(called, index + 1)
    const spec = {
      shell: command,
      cwd: folder,
      envFiles: [{ path: '.env', optional: true }],
      ports: [{ name: 'port', env: 'PORT', ...fixed }],
    }
    objects.push({ object: workloadObject('Process', { name: called }, spec), file, line: index + 1 })
  }
  if (names.size === 0 && findings.errors.length === 0)
    findings.error({ file, line: 1, path: '' }, 'the file has no processes: write NAME: COMMAND')
  return findings.contents(objects)
}

/** The `PORT` of `.env`; a mistake in that file is one of this application. */
function basePortOf(dotenv: string | undefined, findings: Findings): number | undefined {
  if (dotenv === undefined) return undefined
  try {
    const text = parseEnvFile(dotenv, '.env').findLast(({ name }) => name === 'PORT')?.value
    if (text === undefined) return undefined
    if (/^\d{1,5}$/.test(text) && Number(text) >= 1 && Number(text) <= 65_535) return Number(text)
    findings.error(
      { file: '.env', line: 1, path: 'PORT' },
      `must be a port from 1 to 65535, got ${JSON.stringify(text)}`,
    )
  } catch (error) {
    findings.error({ file: '.env', line: 1, path: '' }, (error as Error).message)
  }
  return undefined
}
