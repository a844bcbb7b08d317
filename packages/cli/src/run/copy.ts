/**
 * A copy of an application: its objects in a namespace of their own, with other ports.
 *
 *   ports: [{ name: http, port: 8080, env: PORT }]     any free port, in PORT
 *   ports: [{ name: http, port: 8080 }]                the program has the number in its own code: it stays, with a warning
 *   probes: { readiness: { http: { port: "8080" } } }  the port called http, if 8080 is that port
 */
import type { FileObject, WorkloadObject } from '@evenkeel/workloads'

interface Copied {
  readonly objects: readonly FileObject[]
  readonly warnings: readonly string[]
}

interface CopiedPort {
  readonly name: string
  readonly port?: number
  readonly env?: string
}

export function copyOf(objects: readonly FileObject[], namespace: string): Copied {
  const warnings: string[] = []
  const moved = objects.map((one) => {
    const { object } = one
    const { spec } = object
    const metadata = { ...object.metadata, namespace }
    if (spec === undefined) return { ...one, object: { ...object, metadata } }
    return { ...one, object: { ...object, metadata, spec: withOtherPorts(spec, { object, warnings }) } }
  })
  return { objects: moved, warnings }
}

type Fields = Readonly<Record<string, unknown>>

function withOtherPorts(
  spec: Fields,
  { object, warnings }: { readonly object: WorkloadObject; readonly warnings: string[] },
): Fields {
  const names = new Map<string, string>()
  const ports = Array.isArray(spec['ports']) ? (spec['ports'] as readonly CopiedPort[]) : []
  const other = ports.map((port) => {
    if (port.port === undefined || port.port === 0) return port
    if (port.env === undefined) {
      warnings.push(
        `${object.kind} ${object.metadata.name} keeps port ${port.port}: give it env: NAME, so that its program can take another one`,
      )
      return port
    }
    names.set(String(port.port), port.name)
    return { ...port, port: 0 }
  })
  const probes = spec['probes']
  return {
    ...spec,
    ...(ports.length > 0 && { ports: other }),
    ...(isFields(probes) && { probes: withPortNames(probes, names) }),
  }
}

/** Every `port` below a probe that is one of these numbers. */
function withPortNames(fields: Fields, names: ReadonlyMap<string, string>): Fields {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => {
      if (name === 'port') return [name, names.get(String(value)) ?? value]
      return [name, isFields(value) ? withPortNames(value, names) : value]
    }),
  )
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
