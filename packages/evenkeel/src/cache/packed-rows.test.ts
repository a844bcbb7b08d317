import fc from 'fast-check'
import { expect, test } from 'vitest'
import { PackedBlocks, PackedRows, type RowSpan } from './packed-rows.ts'

/** `<name version|cut|rest>` in the middle of other bytes, and where things are in it. */
function place(
  name: string,
  version: string,
  { cut = '', rest = '' }: { cut?: string; rest?: string } = {},
): { bytes: Buffer; place: RowSpan } {
  const bytes = Buffer.from(`before<${cut}${name} ${version}${rest}>after`)
  const start = 6
  const nameStart = start + 1 + cut.length
  const nameEnd = nameStart + Buffer.byteLength(name)
  return {
    bytes,
    place: {
      start,
      end: bytes.length - 5,
      nameStart,
      nameEnd,
      versionStart: nameEnd + 1,
      versionEnd: nameEnd + 1 + version.length,
      cutStart: start + 1,
      cutEnd: start + 1 + cut.length,
    },
  }
}

const name = fc.oneof(
  fc.constantFrom('a', 'b', 'web-1', '__proto__', 'constructor'),
  fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 3 }),
)
const step = fc.oneof(
  fc.record({
    do: fc.constant('put' as const),
    name,
    version: fc.nat(99).map(String),
    cut: fc.constantFrom('', 'xyz'),
  }),
  fc.record({ do: fc.constant('take' as const), name }),
)

test('Rows agree with a map, whatever is put and taken', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const rows = new PackedRows(new PackedBlocks())
      const model = new Map<string, string>()
      for (const one of steps) {
        if (one.do === 'put') {
          const { bytes, place: at } = place(one.name, one.version, { cut: one.cut })
          expect(rows.put(bytes, at)).toBe(true)
          model.delete(one.name)
          model.set(one.name, one.version)
        } else {
          const row = rows.take(one.name)
          expect([row?.name, row?.version, row?.block.toString('latin1', row.start, row.end)]).toEqual(
            model.has(one.name)
              ? [one.name, model.get(one.name), `<${one.name} ${model.get(one.name)}>`]
              : [undefined, undefined, undefined],
          )
          model.delete(one.name)
        }
        expect(rows.size).toBe(model.size)
      }
      expect([...rows.takeAll()].map((row) => [row.name, row.version])).toEqual([...model])
      expect([rows.size, rows.bytes]).toEqual([0, 0])
    }),
    { numRuns: 300 },
  )
})

test('Rows refuse a name that is not ASCII, and never find one', () => {
  const rows = new PackedRows(new PackedBlocks())
  const { bytes, place: at } = place('ä', '1')
  expect(rows.put(bytes, at)).toBe(false)
  expect(rows.take('ä')).toBeUndefined()
})

test('Blocks give back a block when the last of its objects is let go', () => {
  const blocks = new PackedBlocks()
  const bytes = Buffer.alloc(600_000, 'x')
  const part = { start: 0, end: bytes.length, cutStart: 0, cutEnd: 0 }
  const [first, second] = [blocks.keep(bytes, part).block, blocks.keep(bytes, part).block]
  expect(second).toBe(first + 1)
  blocks.release(first)
  expect(blocks.at(first)).toHaveLength(0)
  blocks.release(second)
  // The one that is being filled stays, for what comes next.
  expect(blocks.keep(Buffer.from('y'), { start: 0, end: 1, cutStart: 0, cutEnd: 0 }).block).toBe(second)
  expect(blocks.at(second).subarray(600_000, 600_001).toString()).toBe('y')
})

test('Blocks copy whole lines, and objects stay where they lie in them', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(40_000), { minLength: 1, maxLength: 120 }), fc.boolean(), (lengths, isCut) => {
      const lines = lengths.map((length, index) => `${index}:${'x'.repeat(length)}`)
      const bytes = Buffer.from(lines.join('\n'))
      const blocks = new PackedBlocks()
      const kept: { block: number; start: number; end: number }[] = []
      for (let next = 0; next < bytes.length;) {
        const copied = blocks.copyLines(bytes, next)
        expect(copied.block.toString('latin1', copied.start, copied.end)).toBe(
          `${bytes.toString('latin1', next, copied.next).replace(/\n$/, '')}\n`,
        )
        next = copied.next
        for (let start = copied.start; start < copied.end;) {
          const end = copied.block.indexOf('\n', start)
          // One byte is left out of every other.
          const cut =
            isCut && kept.length % 2 === 1
              ? { cutStart: start + 1, cutEnd: start + 2 }
              : { cutStart: start, cutEnd: start }
          kept.push({ ...blocks.keep(copied.block, { start, end, ...cut }) })
          if (!isCut)
            expect([blocks.at(kept.at(-1)?.block ?? 0) === copied.block, kept.at(-1)?.start]).toEqual([true, start])
          start = end + 1
        }
      }
      const texts = kept.map(({ block, start, end }) => blocks.at(block).toString('latin1', start, end))
      expect(
        texts.join() === lines.map((line, index) => (isCut && index % 2 === 1 ? line[0] + line.slice(2) : line)).join(),
      ).toBe(true)
      const count = Math.max(...kept.map(({ block }) => block))
      for (const { block } of kept) blocks.release(block)
      for (let block = 0; block < count; block++) expect(blocks.at(block)).toHaveLength(0)
    }),
    { numRuns: 30 },
  )
})

test('Blocks give back lines of which nothing was kept', () => {
  const blocks = new PackedBlocks()
  const bytes = Buffer.alloc(900_000, 'x')
  const { block } = blocks.copyLines(bytes, 0)
  const isHeld = (): boolean => Array.from({ length: 5 }, (_, index) => blocks.at(index)).includes(block)
  expect(isHeld()).toBe(true)
  blocks.copyLines(bytes, 0)
  expect(isHeld()).toBe(false)
})

test('PackedRows find every name in a table that has grown, and a name whose hash is 0', () => {
  const rows = new PackedRows(new PackedBlocks())
  const names = ['pchsj9ga', ...Array.from({ length: 5_000 }, (_, index) => `web-${index}`)]
  for (const [index, each] of names.entries()) {
    const { bytes, place: span } = place(each, String(index))
    rows.put(bytes, span)
  }
  for (const [index, each] of names.entries()) expect(rows.take(each), each).toMatchObject({ version: String(index) })
  expect(rows.take('web-1')).toBeUndefined()
})
