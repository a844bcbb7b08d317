/**
 * A list as a gzip file, put together from compressed runs.
 *
 * Only runs that are not remembered are compressed, a few at a time and off the main thread. What surrounds them (the head of
 * the list with its revision, commas, the end) goes in as it is. A list that needs little work is there in whole, with its
 * length and without a copy; otherwise it goes out as it is made, with a turn for everybody else in between.
 */
import { nextTurn } from '#base'
import type { ServerContext } from '../../call.ts'
import type { ListText } from '../list-bytes.ts'
import { GzipWriter } from './gzip-writer.ts'
import type { CompressedRun } from './packed-runs.ts'
import { runsOf } from './runs.ts'
import type { ListRun } from './runs.ts'

/** A piece is written to the socket at once. */
const pieceBytes = 256 * 1024
/** How many runs are compressed at once: enough to keep going while one is written. */
const aheadMax = 4

type CompressionContext = Pick<ServerContext, 'clock' | 'compressedRuns'>

interface ListRuns {
  readonly runs: readonly ListRun[]
  /** Those of the runs that are there. */
  readonly found: readonly (CompressedRun | undefined)[]
}

/** The gzip file of a list. */
export async function compressedList(
  text: ListText,
  server: CompressionContext,
): Promise<readonly Uint8Array[] | AsyncIterable<Uint8Array>> {
  const { compressedRuns: packed } = server
  const { crc32 } = await import('node:zlib')
  const writer = new GzipWriter(text, crc32)
  const runs = runsOf(text.entries, text.skipped)
  const found = runs.map((run) => packed.find(run))
  const missing = runs.filter((_, index) => found[index] === undefined)
  if (missing.length > aheadMax) return writtenPieces(writer, { runs, found }, server)
  const made = await Promise.all(missing.map((run) => packed.compress(run)))
  for (const run of found) writer.add(run ?? (made.shift() as CompressedRun))
  writer.end()
  return writer.take()
}

async function* writtenPieces(
  writer: GzipWriter,
  { runs, found }: ListRuns,
  { clock, compressedRuns: packed }: CompressionContext,
): AsyncGenerator<Uint8Array, void> {
  const ahead: Promise<CompressedRun>[] = []
  let asked = 0
  for (const run of found) {
    for (; asked < runs.length && ahead.length < aheadMax; asked++) {
      if (!found[asked]) ahead.push(packed.compress(runs[asked] as ListRun))
    }
    // What is not there is the first of those that were asked for.
    writer.add(run ?? (await (ahead.shift() as Promise<CompressedRun>)))
    if (writer.waiting < pieceBytes) continue
    yield Buffer.concat(writer.take())
    await nextTurn(clock)
  }
  writer.end()
  yield Buffer.concat(writer.take())
}
