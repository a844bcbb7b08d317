/**
 * Shapes of YAML and protobuf bodies: tokens that cost the reader more than their bytes, and nested messages.
 */
import { coreKinds, dict, list, nested, type AttackRequest, type DocumentShape } from './shape.ts'

const configMaps = `${coreKinds}/configmaps?dryRun=All`
const head = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n'

function yaml(name: string, n: number, text: (n: number) => string): DocumentShape {
  const make = (size: number): AttackRequest => ({
    method: 'POST',
    path: configMaps,
    type: 'application/yaml',
    body: text(size),
  })
  return { name: `yaml ${name}`, entry: 'yaml', n, make }
}

function lines(n: number, line: (index: number) => string): string {
  return list(n, line).join('\n')
}

const tokens: readonly DocumentShape[] = [
  yaml('colons', 400_000, (n) => ': '.repeat(n)),
  yaml('documents', 250_000, (n) => '---\n'.repeat(n)),
  yaml('comments', 300_000, (n) => '#a\n'.repeat(n)),
  yaml('brackets', 400_000, (n) => '['.repeat(n)),
  yaml('closing brackets', 40_000, (n) => ']'.repeat(n)),
  yaml('dashes', 250_000, (n) => '- '.repeat(n)),
  yaml('question marks', 250_000, (n) => '? '.repeat(n)),
  yaml('exclamation marks', 10_000, (n) => `a: ${'!!str '.repeat(n)}x`),
  yaml('ampersands', 10_000, (n) => `a: ${'&a '.repeat(n)}x`),
  yaml('errors of one line', 60_000, (n) => `a: [${'*,'.repeat(n)}]`),
  yaml('directives', 90_000, (n) => `${'%TAG !a! b\n'.repeat(n)}---\na: b`),
  yaml('empty lines', 1_000_000, (n) => `a: b${'\n'.repeat(n)}`),
  yaml('tabs', 500_000, (n) => `a:${'\t'.repeat(n)}b`),
  yaml('escapes', 250_000, (n) => `${head}data: {a: "${'\\x41'.repeat(n)}"}`),
  yaml('open quote', 1_000_000, (n) => `a: "${'b\n '.repeat(n / 3)}`),
]

const structures: readonly DocumentShape[] = [
  yaml('keys', 80_000, (n) => lines(n, (i) => `k${i}: v`)),
  yaml('keys that repeat', 80_000, (n) => lines(n, () => 'k: v')),
  yaml('keys of data', 80_000, (n) => `${head}data:\n${lines(n, (i) => `  k${i}: v`)}`),
  yaml('keys of data that repeat', 80_000, (n) => `${head}data:\n${lines(n, () => '  k: v')}`),
  yaml('keys in one flow map', 80_000, (n) => `${head}data: {${list(n, (i) => `k${i}: v`).join(', ')}}`),
  yaml('merge keys', 30_000, (n) => `a: &a {b: c}\n${lines(n, (i) => `k${i}: {<<: *a}`)}`),
  yaml('merge of a list', 30_000, (n) => `a: &a {b: c}\nb: {<<: [${list(n, () => '*a').join(', ')}]}`),
  yaml(
    'merge of a large map',
    1_000,
    (n) => `a: &a {${list(n, (i) => `k${i}: v`).join(', ')}}\n${lines(n, (i) => `m${i}: {<<: *a}`)}`,
  ),
  yaml('aliases', 60_000, (n) => `a: &a b\n${lines(n, (i) => `k${i}: *a`)}`),
  yaml('anchors', 50_000, (n) => lines(n, (i) => `k${i}: &a${i} v`)),
  yaml('alias bomb', 9, (n) =>
    lines(n, (i) => `a${i}: &a${i} [${i === 0 ? 'x' : list(9, () => `*a${i - 1}`).join(', ')}]`),
  ),
  yaml('block scalar', 200_000, (n) => `${head}data:\n  a: |\n${'   b\n'.repeat(n)}`),
  yaml('folded scalar', 200_000, (n) => `${head}data:\n  a: >\n${'   b\n'.repeat(n)}`),
  yaml('plain scalar of many lines', 200_000, (n) => `${head}data:\n  a: b\n${'   b\n'.repeat(n)}`),
  yaml('numbers', 110_000, (n) => `${head}data: [${list(n, (i) => `0x${i.toString(16)}`).join(', ')}]`),
  yaml('dates', 45_000, (n) => `${head}data: [${list(n, () => '2020-01-01T00:00:00Z').join(', ')}]`),
  yaml('long key', 1_000_000, (n) => `${'k'.repeat(n)}: v`),
  yaml('lists in lists', 4_000, (n) => lines(n, () => `- ${'- '.repeat(90)}x`)),
  yaml('JSON', 60_000, (n) =>
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'x' },
      data: dict(n, (i) => [`a${i}`, 'b']),
    }),
  ),
  yaml('deep JSON', 2_800, (n) => JSON.stringify(list(n, () => nested(60, 1)))),
]

// Protobuf: `k8s\0`, then an envelope with the type and the message.

function varint(value: number): number[] {
  const bytes: number[] = []
  for (let left = value; ; left = Math.floor(left / 128)) {
    if (left < 128) return [...bytes, left]
    bytes.push((left % 128) + 128)
  }
}

/** A field with a length: text, bytes or a message. */
function field(number: number, value: string | Uint8Array): Buffer {
  const bytes = Buffer.from(value)
  return Buffer.concat([Buffer.from([...varint(number * 8 + 2), ...varint(bytes.byteLength)]), bytes])
}

const objectName = field(1, field(1, 'x'))

function protobuf(name: string, n: number, message: (n: number) => Uint8Array): DocumentShape {
  const make = (size: number): AttackRequest => {
    const type = Buffer.concat([field(1, 'v1'), field(2, 'ConfigMap')])
    const body = Buffer.concat([Buffer.from('k8s\0'), field(1, type), field(2, message(size))])
    return { method: 'POST', path: configMaps, type: 'application/vnd.kubernetes.protobuf', body }
  }
  return { name: `protobuf ${name}`, entry: 'protobuf', n, make }
}

function metadataOf(n: number, make: (index: number) => Buffer): Buffer {
  return field(1, Buffer.concat([field(1, 'x'), ...list(n, make)]))
}

const ownerField = (index: number): Buffer =>
  field(13, Buffer.concat([field(1, 'Pod'), field(3, 'a'), field(4, `${index}`), field(5, 'v1')]))

const messages: readonly DocumentShape[] = [
  protobuf('data', 100_000, (n) =>
    Buffer.concat([objectName, ...list(n, (i) => field(2, Buffer.concat([field(1, `a${i}`), field(2, 'b')])))]),
  ),
  protobuf('data of one key', 100_000, (n) =>
    Buffer.concat([objectName, ...list(n, () => field(2, Buffer.concat([field(1, 'a'), field(2, 'b')])))]),
  ),
  protobuf('empty entries', 500_000, (n) => Buffer.concat([objectName, Buffer.from('\x12\0'.repeat(n))])),
  protobuf('unknown fields', 1_000_000, (n) =>
    Buffer.concat([objectName, Buffer.from('\xf8\x01\x01'.repeat(n / 3), 'latin1')]),
  ),
  protobuf('metadata that repeats', 500_000, (n) => Buffer.concat([objectName, Buffer.from('\x0a\0'.repeat(n))])),
  protobuf('owner references', 40_000, (n) => metadataOf(n, ownerField)),
  protobuf('finalizers', 100_000, (n) => metadataOf(n, (i) => field(14, `a.b/${i}`))),
  protobuf('labels', 100_000, (n) =>
    metadataOf(n, (i) => field(11, Buffer.concat([field(1, `a${i}`), field(2, 'b')]))),
  ),
  protobuf('groups', 1_000_000, (n) => Buffer.from('\x0b'.repeat(n), 'latin1')),
  protobuf('nested messages', 2_000, (n) => {
    let message = field(1, 'x')
    for (let depth = 0; depth < n; depth++) message = field(1, message)
    return message
  }),
  protobuf('zeros', 2_000_000, (n) => Buffer.alloc(n)),
  protobuf('long varints', 2_000_000, (n) => Buffer.alloc(n, 0xff)),
]

export const yamlShapes: readonly DocumentShape[] = [...tokens, ...structures]
export const protobufShapes: readonly DocumentShape[] = messages
