import fc from 'fast-check'
import { expect, test } from 'vitest'
import { jsonSize } from '#api'
import { batchesOf } from './conversion.ts'

test('batchesOf keeps every object and its order, and no batch of several is too large', () => {
  fc.assert(
    fc.property(
      fc.array(fc.nat(50), { minLength: 17, maxLength: 60 }),
      fc.integer({ min: 20, max: 200 }),
      (lengths, bytesMax) => {
        const objects = lengths.map((length) => ({ text: 'x'.repeat(length) }))
        const batches = batchesOf(objects, { bytesMax })
        expect(batches.flat()).toEqual(objects)
        for (const batch of batches)
          if (batch.length > 1)
            expect(batch.reduce((sum, object) => sum + jsonSize(object), 0)).toBeLessThanOrEqual(bytesMax)
      },
    ),
  )
})

test('batchesOf does not weigh a few', () => {
  expect(batchesOf([{ a: 'x'.repeat(100) }, { b: 1 }], { bytesMax: 1 })).toHaveLength(1)
})
