/**
 * Equivalent mutants, each with the reason: `npm run mutate` does not count them as survivors.
 */
import { apiEquivalents } from './equivalent-api.ts'
import { runtimeEquivalents } from './equivalent-runtime.ts'
import { serverEquivalents } from './equivalent-server.ts'

export interface Equivalent {
  /** The end of the path. */
  readonly file: string
  readonly original: string
  readonly mutated: string
  /** A part of the line, when the same change elsewhere in the file is not equivalent. */
  readonly line?: string
  readonly because: string
}

export const equivalents: readonly Equivalent[] = [
  ...apiEquivalents,
  ...runtimeEquivalents,
  ...serverEquivalents,
  {
    file: 'store/etcd/feed.ts',
    original: '0',
    mutated: '(0 + 1)',
    line: 'this.#recentBytes = 0',
    because: 'One byte less for recent changes; what is no longer there is read from etcd.',
  },
  {
    file: 'store/file/snapshot.ts',
    original: `this.#logger.warn('log compaction failed; will retry later', {
          error,
          revision: source.versions.published,
        })`,
    mutated: 'undefined',
    because: 'A log line.',
  },
  {
    file: 'cache/items.ts',
    original: '0',
    mutated: '(0 + 1)',
    line: 'start = 0',
    because: 'The start is read only for bytes, and `ofBytes` always gives one.',
  },
  {
    file: 'cache/listeners.ts',
    original: '0',
    mutated: '(0 + 1)',
    line: 'let calls = 0',
    because: 'Other work gets its first turn after 255 calls instead of 256.',
  },
  {
    file: 'cache/packed-rows.ts',
    original: '(this.#count + 1) * 2 > this.#table.length',
    mutated: '(this.#count + 1) * 2 >= this.#table.length',
    because: 'The table grows one row earlier; its contents are the same.',
  },
  {
    file: 'cache/packed-rows.ts',
    original: '0x01000193',
    mutated: '(16777619 + 1)',
    because: 'Names of bytes and of text are hashed with the same factor; any factor finds the same rows.',
  },
  {
    file: 'cache/packed-rows.ts',
    original: '0',
    mutated: '(0 + 1)',
    line: 'let all = 0',
    because: 'The lowest bit does not change whether a character is above 0x7f.',
  },
  {
    file: 'cache/packed-rows.ts',
    original: '0x7f',
    mutated: '(127 + 1)',
    line: 'all > 0x7f',
    because: 'Rows have ASCII names only, so a name with U+0080 is not found with a hash either.',
  },
  {
    file: 'cache/packed-rows.ts',
    original: '16',
    mutated: '(16 + 1)',
    line: 'hash >>> 16',
    because: 'The same function mixes the hashes of all names; any mix finds the same rows.',
  },
  {
    file: 'cache/packed-rows.ts',
    original: '0',
    mutated: '(0 + 1)',
    line: '#used = 0',
    because: 'There is no block yet, so the first use begins one, which sets the position.',
  },
  {
    file: 'cache/packed-rows.ts',
    original: 'cutStart - start > loopBytesMax',
    mutated: '!(cutStart - start > loopBytesMax)',
    because: 'Two ways to copy the same bytes, one faster for few and one for many.',
  },
  {
    file: 'cache/packed-rows.ts',
    original: '0',
    mutated: '(0 + 1)',
    line: '#begin(length = 0)',
    because: 'A block is always larger than one byte.',
  },
  {
    file: 'cache/projection.ts',
    original: 'this.#indexes.clear()',
    mutated: 'undefined',
    because: 'Nothing reads the indexes of a projection that was closed.',
  },
  {
    file: 'cache/watch-decoder.ts',
    original: '0',
    mutated: '(0 + 1)',
    line: 'namespaceStart: 0',
    because: 'Every scan sets the position before it is read.',
  },
  {
    file: 'cache/watch-decoder.ts',
    original: 'metadata < 0',
    mutated: 'metadata <= 0',
    because: 'The value of `metadata` is never at position 0, which is the brace of the event.',
  },
  {
    file: 'cache/watch-decoder.ts',
    original: 'key < 0',
    mutated: 'key <= 0',
    because: 'A member is never at position 0, which is the brace of the event.',
  },
  {
    file: 'cache/watch-decoder.ts',
    original: 'at < 0',
    mutated: 'at <= 0',
    because: 'The end of a value is never at position 0, which is the brace of the event.',
  },
  {
    file: 'cache/shared-informers.ts',
    original: '1',
    mutated: '(1 + 1)',
    line: 'namespace === undefined ? 1 : 0',
    because:
      'The score decides only between informers that both have selectors or both have none: `ObjectCache.#readable` never mixes the two.',
  },
  {
    file: 'cache/watch-decoder.ts',
    original: '-1',
    mutated: 'undefined',
    line: 'openBrace) return -1',
    because:
      '`undefined` is not below 0, but then `#scanMetadata` finds no brace at that position, and the line is refused as well.',
  },
  {
    file: 'cache/watch-decoder.ts',
    original: 'false',
    mutated: 'true',
    line: '    return false',
    because:
      'The end of `#scanMetadata` is never reached: `scan` has checked that the line ends with two braces, so a comma is never its last byte.',
  },
  {
    file: 'store/etcd/connection.ts',
    original: '4096',
    mutated: '(4096 + 1)',
    because: 'A limit in MiB that no session comes near.',
  },
  {
    file: 'store/etcd/connection.ts',
    original: 'session.destroy()',
    mutated: 'undefined',
    because: 'The next statement destroys the socket, and the session with it.',
  },
  {
    file: 'store/etcd/connection.ts',
    original: 'this.#stopPinging?.()',
    mutated: 'undefined',
    because: 'At the end of a session all its streams close, and the last one stops the timer as well.',
  },
  {
    file: 'store/etcd/etcd-store.ts',
    original: '1024',
    mutated: '(1024 + 1)',
    line: 'recentBytesMax',
    because: 'The default size of a cache: what it no longer has is read from etcd.',
  },
  {
    file: 'store/etcd/etcd-store.ts',
    original: 'true',
    mutated: 'false',
    line: 'ok: true',
    because: 'The initial value is always replaced: a read has at least one page.',
  },
  {
    file: 'store/etcd/upstream.ts',
    original: 'this.#stream?.close()',
    mutated: 'undefined',
    because: 'The loop over the stream closes it as well when it is left, for whatever reason.',
  },
  {
    file: 'store/local-store.ts',
    original: 'this.#leases.detach(older.lease, key)',
    mutated: 'undefined',
    because: 'The end of a lease deletes only the keys that still belong to it.',
  },
  {
    file: 'store/keyspace.ts',
    original: 'index < block.length',
    mutated: 'index <= block.length',
    because: 'There is no version at the length of a block, and none is visited.',
  },
  {
    file: 'store/keyspace.ts',
    original: 'block.length < blockMax',
    mutated: 'block.length <= blockMax',
    because: 'A block with one key more; order and contents are the same.',
  },
  {
    file: 'store/history.ts',
    original: 'this.#start > 1024 && this.#start * 2 > this.#changes.length',
    mutated: '!(this.#start > 1024 && this.#start * 2 > this.#changes.length)',
    because: 'When the places of removed changes are given back; the changes are the same.',
  },
  {
    file: 'store/file/frame.ts',
    original: 'kept >= length',
    mutated: 'kept > length',
    because: 'The window begins again with the bytes that it has.',
  },
  {
    file: 'store/file/frame.ts',
    original: '1',
    mutated: '(1 + 1)',
    line: 'findMagic(bytes, at + 1',
    because: 'The four bytes of the magic number are not equal, so it never begins again one byte later.',
  },
  {
    file: 'store/file/frame.ts',
    original: 'length > framePayloadMax',
    mutated: 'length >= framePayloadMax',
    because: 'A frame is finished at 4 MiB, and a commit has 16 MiB of values: none reaches the limit.',
  },
  {
    file: 'store/file/file-journal.ts',
    original: '64',
    mutated: '(64 + 1)',
    line: 'new FrameBuilder(64)',
    because: 'The first size of a buffer that grows.',
  },
  {
    file: 'store/file/record.ts',
    original: '16',
    mutated: '(16 + 1)',
    line: '      created: bytes.readDoubleLE(offset + 16),',
    because: 'Nothing reads it of a record in a log: the versions of a key tell when it was created.',
  },
  {
    file: 'store/file/record.ts',
    original: '0',
    mutated: '(0 + 1)',
    line: '(bytes[offset + 3] ?? 0) + valueBytes',
    because: 'A put has 24 bytes before its key, so the byte is there.',
  },
  {
    file: 'store/file/simulated-disk.ts',
    original: 'await Promise.resolve()',
    mutated: 'undefined',
    because: 'The call is asynchronous without it as well.',
  },
  {
    file: 'store/etcd/keyspace.ts',
    original: '0',
    mutated: '(0 + 1)',
    line: 'stored[magic.length] ?? 0',
    because: 'The length was checked before, so the byte exists and the default is never used.',
  },
  {
    file: 'store/etcd/protobuf.ts',
    original: '256',
    mutated: '(256 + 1)',
    because: 'The initial size of a buffer that grows.',
  },
  {
    file: 'store/etcd/writes.ts',
    original: 'true',
    mutated: 'false',
    line: 'LeaseKeepAlive',
    because: '`isUncertain` is read only for commits and for calls with `isOnce`; a renewal is neither.',
  },
  {
    file: 'store/file/file-store.ts',
    original: '1024',
    mutated: '(1024 + 1)',
    line: 'logBytesMin',
    because: 'The default size from which a log is worth a snapshot; a few bytes more change only the moment.',
  },
  {
    file: 'store/file/file-store.ts',
    original: '8',
    mutated: '(8 + 1)',
    line: 'padStart(8',
    because: 'The header of a file keeps the first 16 bytes of the id, and any random id will do.',
  },
  {
    file: 'store/file/frame.ts',
    original: '2',
    mutated: '(2 + 1)',
    line: 'this.#bytes.length * 2',
    because: 'The growth of a buffer; its contents are the same.',
  },
  {
    file: 'store/file/frame.ts',
    original: '0',
    mutated: '(0 + 1)',
    line: 'start >= 0',
    because: 'With exactly as many kept bytes as headroom, the other branch reads the same bytes from the file.',
  },
  {
    file: 'store/file/recovery.ts',
    original: 'reader.offset < size',
    mutated: 'reader.offset <= size',
    line: 'else if',
    because: 'A log without a frame is unused: it is removed as a whole, and its tail is never truncated.',
  },
  {
    file: 'store/file/simulated-disk.ts',
    original: 'sector * sectorBytes < inode.length',
    mutated: 'sector * sectorBytes <= inode.length',
    because: 'A dirty sector after the end of the file: a power cut copies nothing from it.',
  },
  {
    file: 'store/file/simulated-disk.ts',
    original: 'durable.length === length',
    mutated: 'durable.length !== length',
    because: 'A fast path: without dirty sectors the lengths are equal, and the general path returns the same bytes.',
  },
  {
    file: 'store/file/simulated-disk.ts',
    original: '3',
    mutated: '(3 + 1)',
    line: 'const bytes = Buffer.alloc',
    because: 'A fourth choice falls back to `most`, which is one of the three.',
  },
  {
    file: 'store/file/snapshot.ts',
    original: '(await file.size()) > spareBytesMax',
    mutated: '(await file.size()) >= spareBytesMax',
    because: 'A file of exactly this size is truncated to its own size.',
  },
  {
    file: 'store/version.ts',
    original: '!worst || worst.live > worst.bytes.length * 0.9',
    mutated: '!worst && worst.live > worst.bytes.length * 0.9',
    because:
      'Never true here: with a third of all bytes dead, and at least four slabs of them, there is another slab than the current one, and one of them has far more than a tenth dead.',
  },
]
