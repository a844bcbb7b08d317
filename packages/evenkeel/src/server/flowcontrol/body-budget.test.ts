import { describe, expect, test } from 'vitest'
import { BodyBudget } from './body-budget.ts'

describe('row 13: BodyBudget', () => {
  test('bounds the bytes of all requests and of one user, and gets them back', () => {
    const budget = new BodyBudget({ bytesMax: 100, bytesPerUserMax: 50 })
    const [one, two, other] = [budget.open('ada'), budget.open('ada'), budget.open('bob')]
    one.add(30)
    one.add(20)
    expect(() => {
      two.add(1)
    }).toThrow('too many bytes of request bodies are being handled')
    other.add(50)
    expect(budget.bytes).toBe(100)
    expect(() => {
      other.add(1)
    }).toThrow('too many bytes')
    one.close()
    one.close()
    two.add(50)
    two.close()
    other.close()
    expect(budget.bytes).toBe(0)
  })

  test('when all is used up, a user below its fair share still gets in, and one above it does not', () => {
    const budget = new BodyBudget({ bytesMax: 100, bytesPerUserMax: 50 })
    budget.open('ada').add(50)
    budget.open('bob').add(50)
    const carol = budget.open('carol')
    carol.add(33)
    expect(() => {
      carol.add(1)
    }).toThrow('too many bytes')
    expect(budget.bytes).toBe(133)
  })
})
