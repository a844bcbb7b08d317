import { expect, test } from 'vitest'
import { recoveryFor, RelistError, type ReflectorStep } from './reflector-recovery.ts'

test.each<ReflectorStep>(['stream', 'list', 'watch'])(
  'recoveryFor requests everything again after a pause when data of a %s was wrong',
  (step) => {
    const context = { step, askedNewest: false, worked: true, cuts: 0 }
    expect(recoveryFor(new RelistError('cannot be decoded'), context)).toEqual({ next: 'sync', pause: true })
  },
)
