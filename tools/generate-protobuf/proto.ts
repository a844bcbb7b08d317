/**
 * Reads `.proto` files, as far as Kubernetes uses the language: proto2 messages with optional, repeated, required and
 * map fields. Anything else (enums, oneofs, nested messages, options on fields) stops the generator, so that a new
 * construct is never skipped silently.
 */

export type Shape = 'single' | 'list' | 'map'

export interface ProtoField {
  readonly name: string
  readonly number: number
  readonly shape: Shape
  /** A scalar, a message of the same package, or a full name with a leading dot. For a map: of its values. */
  readonly type: string
}

export interface ProtoMessage {
  readonly name: string
  /** In ascending order of their numbers. */
  readonly fields: readonly ProtoField[]
}

export interface ProtoFile {
  /** `k8s.io.api.core.v1` */
  readonly name: string
  /** The folder of the Go package: `k8s.io/api/core/v1`. */
  readonly goPackage: string
  readonly messages: readonly ProtoMessage[]
}

export function parseProto(text: string): ProtoFile {
  const messages: ProtoMessage[] = []
  let [name, goPackage] = ['', '']
  let open: { name: string; fields: ProtoField[] } | undefined
  for (const line of text
    .split('\n')
    .map((raw) => raw.replace(/\/\/.*/, '').trim())
    .filter((trimmed) => trimmed !== '')) {
    const start = /^message (\w+) \{$/.exec(line)
    if (open && line === '}') {
      messages.push({ name: open.name, fields: open.fields.sort((a, b) => a.number - b.number) })
      open = undefined
    } else if (open) open.fields.push(parseField(line))
    else if (start) open = { name: start[1] ?? '', fields: [] }
    else if (line.startsWith('package ')) name = line.slice('package '.length, -1)
    else if (line.startsWith('option go_package')) goPackage = /"(.*)"/.exec(line)?.[1] ?? ''
    else if (!/^(syntax|import) /.test(line)) throw new Error(`cannot read this line of a .proto file: ${line}`)
  }
  if (name === '' || goPackage === '' || open)
    throw new Error('a .proto file must have a package, a go_package and closed messages')
  return { name, goPackage, messages }
}

function parseField(line: string): ProtoField {
  const single = /^(optional|required|repeated) ([\w.]+) (\w+) = (\d+);$/.exec(line)
  if (single)
    return {
      name: single[3] ?? '',
      number: Number(single[4]),
      shape: single[1] === 'repeated' ? 'list' : 'single',
      type: single[2] ?? '',
    }
  const map = /^map<string, ([\w.]+)> (\w+) = (\d+);$/.exec(line)
  if (map) return { name: map[2] ?? '', number: Number(map[3]), shape: 'map', type: map[1] ?? '' }
  throw new Error(`cannot read this field of a message: ${line}`)
}
