import { describe, expect, test } from 'vitest'
import {
  decodeGrantedTtl,
  decodeLease,
  decodeRange,
  decodeStatus,
  decodeToken,
  decodeTxn,
  decodeWatch,
  encodeCompact,
  encodeGrant,
  encodeLease,
  encodeLogin,
  encodeProgressRequest,
  encodePut,
  encodeRange,
  encodeReads,
  encodeTxn,
  encodeWatch,
} from './messages.ts'
import { ProtobufWriter } from './protobuf.ts'

const hex = (writer: ProtobufWriter): string => writer.frame().toString('hex')
const bytes = (writer: ProtobufWriter): Uint8Array => writer.frame().subarray(5)
const text = (value: string): Uint8Array => Buffer.from(value)
const header =
  (revision: number) =>
  (writer: ProtobufWriter): unknown =>
    writer
      .int64(1, 2n ** 63n - 1n)
      .int64(2, 77n)
      .int(3, revision)
      .int(4, 2)

/** What etcdctl 3.4.23 sent for the command in the name, caught on the wire. */
const sentByEtcdctl: readonly (readonly [string, ProtobufWriter, string])[] = [
  ['get /evenkeel/a', encodeRange({ key: '/evenkeel/a' }), '000000000d0a0b2f6576656e6b65656c2f61'],
  [
    'get /evenkeel/a /evenkeel/b --limit=5 --rev=300 --keys-only',
    encodeRange({ key: '/evenkeel/a', end: '/evenkeel/b', limit: 5, revision: 300, isKeysOnly: true }),
    '00000000210a0b2f6576656e6b65656c2f61120b2f6576656e6b65656c2f62180520ac024001',
  ],
  ['put /evenkeel/\\x01m ""', encodePut('/evenkeel/\u0001m', text('')), '000000000e0a0c2f6576656e6b65656c2f016d'],
  [
    'txn',
    encodeTxn({
      expected: [
        { key: '/e/a', revision: 0 },
        { key: '/e/b', revision: 300 },
      ],
      writes: [{ key: '/e/a', value: [text('v'), text('1')] }, { key: '/e/b' }],
    }),
    '00000000450a0a10021a042f652f6130000a0b10021a042f652f6230ac02120c120a0a042f652f611202763112081a060a042f652f621a080a060a042f652f611a080a060a042f652f62',
  ],
  ['compact 300', encodeCompact(300), '000000000308ac02'],
  ['lease grant 60', encodeGrant(0n, 60), '0000000002083c'],
  ['lease revoke 1234567890abcdef', encodeLease(0x1234567890abcdefn), '000000000a08ef9baf8589cf959a12'],
  ['--user root:pw', encodeLogin('root', 'pw'), '000000000a0a04726f6f7412027077'],
]

describe('requests', () => {
  test.each(sentByEtcdctl)('are, byte for byte, what etcdctl sends for: %s', (_, ours, theirs) => {
    expect(hex(ours)).toBe(theirs)
  })

  test('a put in a transaction carries its lease as etcdctl sends it', () => {
    const put = '0a042f652f6b12017618ffffffffffffffff7f'
    expect(
      hex(encodeTxn({ expected: [], writes: [{ key: '/e/k', value: [text('v')], lease: 2n ** 63n - 1n }] })),
    ).toContain(put)
  })

  test('a watch asks as etcdctl does, and for progress and fragments too', () => {
    expect(hex(encodeWatch({ key: '/e/', end: '/e0' }, 300))).toBe(
      '00000000150a130a032f652f12032f653018ac02200130014001',
    )
    expect(hex(encodeProgressRequest())).toBe('00000000021a00')
  })

  test('several reads are one transaction without conditions', () => {
    expect(hex(encodeReads(['/e/a', '/e/b']))).toBe('000000001412080a060a042f652f6112080a060a042f652f62')
  })
})

const keyValue = (writer: ProtobufWriter): unknown =>
  writer
    .latin1(1, '/e/a')
    .int(2, 5)
    .int(3, 9)
    .int(4, 3)
    .bytes(5, text('value'))
    .int64(6, 2n ** 62n)
const entry = {
  key: '/e/a',
  value: expect.objectContaining({ length: 5 }) as Uint8Array,
  created: 5,
  modified: 9,
  lease: 2n ** 62n,
}

describe('answers', () => {
  test('a range has entries, a count and the newest revision', () => {
    const message = bytes(new ProtobufWriter().message(1, header(42)).message(2, keyValue).flag(3, true).int(4, 17))
    expect(decodeRange(message)).toEqual({ revision: 42, entries: [entry], count: 17 })
  })

  test('a transaction that was not done tells what it found, in order', () => {
    const message = bytes(
      new ProtobufWriter()
        .message(1, header(42))
        .message(3, (operation) => operation.message(1, (range) => range.message(1, header(42))))
        .message(3, (operation) => operation.message(1, (range) => range.message(1, header(42)).message(2, keyValue))),
    )
    expect(decodeTxn(message)).toEqual({ revision: 42, isDone: false, found: [undefined, entry] })
  })

  test('a transaction that was done says at which revision', () => {
    const message = bytes(
      new ProtobufWriter()
        .message(1, header(43))
        .flag(2, true)
        .message(3, (operation) => operation.message(2, () => undefined)),
    )
    expect(decodeTxn(message)).toEqual({ revision: 43, isDone: true, found: [] })
  })

  test('a watch tells puts and deletes with what was before', () => {
    const message = bytes(
      new ProtobufWriter()
        .message(1, header(42))
        .flag(7, true)
        .message(11, (event) => event.message(2, keyValue))
        .message(11, (event) =>
          event
            .int(1, 1)
            .message(2, (kv) => kv.latin1(1, '/e/b').int(3, 10))
            .message(3, keyValue),
        ),
    )
    const { events, ...rest } = decodeWatch(message)
    expect(rest).toEqual({
      revision: 42,
      watchId: 0,
      isCreated: false,
      isCanceled: false,
      compacted: 0,
      reason: '',
      isFragment: true,
    })
    expect(events).toEqual([
      { isDelete: false, entry, previous: undefined },
      {
        isDelete: true,
        entry: { key: '/e/b', value: new Uint8Array(0), created: 0, modified: 10, lease: 0n },
        previous: entry,
      },
    ])
  })

  test('a watch that is refused says why', () => {
    const message = Buffer.concat([
      Buffer.from('10ffffffffffffffffff01', 'hex'),
      bytes(new ProtobufWriter().flag(4, true).int(5, 8).text(6, 'compacted')),
    ])
    expect(decodeWatch(message)).toMatchObject({ watchId: -1, isCanceled: true, compacted: 8, reason: 'compacted' })
  })

  test('fields of a later etcd are skipped, at every level', () => {
    const later = (writer: ProtobufWriter): ProtobufWriter => writer.int(90, 7).text(91, 'later').bytes(92, text('x'))
    const watch = later(new ProtobufWriter())
      .message(1, (inner) => header(42)(later(inner)))
      .message(11, (event) => later(event).message(2, (kv) => keyValue(later(kv))))
    expect(decodeWatch(bytes(watch))).toMatchObject({ revision: 42, events: [{ isDelete: false, entry }] })
    const range = later(new ProtobufWriter().message(1, header(42))).message(2, keyValue)
    expect(decodeRange(bytes(range))).toEqual({ revision: 42, entries: [entry], count: 0 })
    const txn = later(new ProtobufWriter().message(1, header(42))).message(3, (operation) =>
      later(operation).message(1, (found) => later(found).message(2, keyValue)),
    )
    expect(decodeTxn(bytes(txn))).toEqual({ revision: 42, isDone: false, found: [entry] })
    expect(decodeLease(bytes(later(new ProtobufWriter()).int64(2, 7n)))).toEqual({ id: 7n, ttl: 0 })
    expect(decodeGrantedTtl(bytes(later(new ProtobufWriter()).int(4, 60)))).toBe(60)
    expect(decodeToken(bytes(later(new ProtobufWriter()).text(2, 'abc.9')))).toBe('abc.9')
    expect(decodeStatus(bytes(later(new ProtobufWriter()).text(2, '3.7.0')))).toEqual({
      version: '3.7.0',
      hasLeader: false,
    })
  })

  test('leases, tokens and status', () => {
    expect(decodeLease(bytes(new ProtobufWriter().message(1, header(1)).int64(2, 7n).int(3, 60)))).toEqual({
      id: 7n,
      ttl: 60,
    })
    expect(decodeGrantedTtl(bytes(new ProtobufWriter().int64(2, 7n).int(3, 50).int(4, 60)))).toBe(60)
    expect(decodeToken(bytes(new ProtobufWriter().message(1, header(1)).text(2, 'abc.9')))).toBe('abc.9')
    expect(
      decodeStatus(
        bytes(
          new ProtobufWriter()
            .text(2, '3.4.23')
            .int(3, 4096)
            .int64(4, 2n ** 63n - 1n),
        ),
      ),
    ).toEqual({ version: '3.4.23', hasLeader: true })
    expect(decodeStatus(new Uint8Array(0))).toEqual({ version: '', hasLeader: false })
  })
})
