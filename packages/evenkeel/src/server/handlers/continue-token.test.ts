import fc from 'fast-check'
import { expect, test } from 'vitest'
import { formatContinue, parseContinue } from './list.ts'

test('parseContinue reads what formatContinue writes', () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.constant(-1), fc.integer({ min: 1 })),
      fc.stringMatching(/^[!-~]{1,30}$/),
      (revision, after) => {
        expect(parseContinue(formatContinue({ revision, after }))).toEqual({ revision, after })
      },
    ),
  )
})

const token = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')
const version = 'evenkeel.dev/v1'

test.each([
  'garbage',
  '',
  'é',
  token('x'),
  token(null),
  token({}),
  token({ v: 'meta.k8s.io/v1', rv: 1, start: 'a' }),
  token({ v: version, rv: 0, start: 'a' }),
  token({ v: version, rv: -2, start: 'a' }),
  token({ v: version, rv: 1.5, start: 'a' }),
  token({ v: version, rv: 1, start: '' }),
  token({ v: version, rv: 1, start: 'a b' }),
  token({ v: version, rv: 1, start: 1 }),
  token({ v: version, rv: '1', start: 'a' }),
])('parseContinue refuses %j', (text) => {
  expect(() => parseContinue(text)).toThrow('continue key is not valid')
})
