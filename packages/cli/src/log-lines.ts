/**
 * How lines of logs are printed: those of several objects with the name of each, in a colour of its own.
 *
 *   web     | listening on 8080
 *   worker  | 3 jobs
 */
import type { KubeObject } from 'evenkeel'
import type { Invocation } from './command.ts'
import { safeLine } from './terminal.ts'

/** Cyan, yellow, green, magenta, blue, and their bright ones. */
const colors = [36, 33, 32, 35, 34, 96, 93, 92, 95, 94]

interface LineOptions {
  /** All objects whose lines are printed. */
  readonly objects: readonly KubeObject[]
  /** Only lines that contain it. */
  readonly grep: string | undefined
}

type PrintLine = (line: string) => void

/** A function for each object that prints its lines. */
export function linePrinters({ io, json }: Invocation, { objects, grep }: LineOptions): readonly PrintLine[] {
  const isColored = io.stdout.isTTY === true && !io.env['NO_COLOR']
  const names = shortNames(objects)
  const width = Math.max(...names.map((name) => name.length))
  return objects.map((object, index) => {
    const name = names[index] ?? ''
    const shown = `${name.padEnd(width)} |`
    const color = colors[index % colors.length] ?? 36
    const prefix = objects.length === 1 ? '' : `${isColored ? `\u001b[${color}m${shown}\u001b[0m` : shown} `
    return (line) => {
      if (grep !== undefined && !line.includes(grep)) return
      const fields = objects.length === 1 ? { log: line } : { object: refOf(object), log: line }
      io.stdout.write(json ? `${JSON.stringify(fields)}\n` : `${prefix}${safeLine(line)}\n`)
    }
  })
}

/** Names alone, where they are different. */
function shortNames(objects: readonly KubeObject[]): readonly string[] {
  const names = objects.map(({ metadata }) => metadata.name ?? '')
  if (new Set(names).size === names.length) return names
  const refs = objects.map(refOf)
  if (new Set(refs).size === refs.length) return refs
  return objects.map((object) => `${object.metadata.namespace ?? ''}/${refOf(object)}`)
}

export function refOf({ kind, metadata }: KubeObject): string {
  return `${kind.toLowerCase()}/${metadata.name}`
}
