/**
 * Compares the codec with pairs of files from Kubernetes itself: the same object as JSON and as protobuf.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { isJsonObject, type JsonObject, type JsonValue } from 'evenkeel/unstable/api'
import { decodeProtobuf, encodeProtobuf, knowsProtobuf } from 'evenkeel/unstable/wire'

interface Totals {
  pairs: number
  skipped: number
  decoded: number
  encoded: number
}

/** Prints differences and returns the number of failures. Kinds that the codec does not know are listed and skipped. */
export function checkGolden(folder: string): number {
  const totals: Totals = { pairs: 0, skipped: 0, decoded: 0, encoded: 0 }
  for (const name of readdirSync(folder).filter((file) => file.endsWith('.pb'))) checkPair(join(folder, name), totals)
  process.stdout.write(
    `${totals.pairs} pairs, ${totals.skipped} of kinds we do not know; decoded equal ${totals.decoded}, encoded byte for byte ${totals.encoded}\n`,
  )
  return 2 * (totals.pairs - totals.skipped) - totals.decoded - totals.encoded
}

function checkPair(path: string, totals: Totals): void {
  const name = basename(path, '.pb')
  const [, group = '', version = '', kind = ''] = /^(.*)\.([^.]+)\.([^.]+)$/.exec(name) ?? []
  const type = { apiVersion: group === 'core' ? version : `${group}/${version}`, kind }
  totals.pairs++
  if (!knowsProtobuf(type.apiVersion, kind)) {
    totals.skipped++
    process.stdout.write(`${name}: skipped, the codec does not know it\n`)
    return
  }
  const bytes = readFileSync(path)
  const json = JSON.parse(readFileSync(path.replace(/\.pb$/, '.json'), 'utf8')) as JsonObject
  const found = differences(decodeProtobuf(bytes, type), json, '')
  const zeros = found.filter(({ isZero }) => isZero)
  if (zeros.length > 0)
    process.stdout.write(
      `${name}: zeros that mean absent are left out: ${[...new Set(zeros.map(({ path: at }) => at.replace(/.*\./, '')))].join(', ')}\n`,
    )
  for (const { path: at } of found.filter(({ isZero }) => !isZero))
    process.stdout.write(`${name}: decoded differs at ${at}\n`)
  if (found.length === zeros.length) totals.decoded++
  const encoded = encodeProtobuf({ ...json, ...type })
  if (Buffer.compare(encoded, bytes) === 0) totals.encoded++
  else process.stdout.write(`${name}: encoded differs, ${encoded.length} bytes instead of ${bytes.length}\n`)
}

interface Difference {
  readonly path: string
  /** Theirs is the zero of a non-pointer value, ours is absent. */
  readonly isZero: boolean
}

function differences(ours: JsonValue | undefined, theirs: JsonValue | undefined, path: string): Difference[] {
  if (Array.isArray(ours) && Array.isArray(theirs)) {
    return Array.from({ length: Math.max(ours.length, theirs.length) }, (_, index) =>
      differences(ours[index] as JsonValue, theirs[index] as JsonValue, `${path}[${index}]`),
    ).flat()
  }
  if (isJsonObject(ours) && isJsonObject(theirs)) {
    return [...new Set([...Object.keys(ours), ...Object.keys(theirs)])].flatMap((key) =>
      differences(ours[key], theirs[key], `${path}.${key}`),
    )
  }
  if (ours === theirs) return []
  return [
    {
      path,
      isZero:
        ours === undefined &&
        (theirs === null ||
          theirs === 0 ||
          theirs === '0' ||
          (isJsonObject(theirs) && Object.keys(theirs).length === 0)),
    },
  ]
}
