import { describe, expect, test } from 'vitest'
import { loadClaimsEngine } from './claims.ts'

const { compile } = await loadClaimsEngine()

describe('loadClaimsLanguage', () => {
  test('evaluates expressions about claims to JSON, of any type', () => {
    const claims = { name: 'ann', roles: ['a', 'b'], deep: { level: 3 }, exp: 5, __proto__x: true }
    const value = (text: string): unknown => compile(text, { variable: 'claims' }).evaluate(claims)
    expect(value('claims.name')).toEqual({ value: 'ann' })
    expect(value('claims.roles')).toEqual({ value: ['a', 'b'] })
    expect(value('claims.deep')).toEqual({ value: { level: 3 } })
    expect(value('claims.deep.level > 2')).toEqual({ value: true })
    expect(value('has(claims.none) ? claims.none : ""')).toEqual({ value: '' })
    expect(value('claims.none')).toEqual({ error: "expression 'claims.none' resulted in error: no such key: none" })
  })

  test('knows one variable and says what is wrong with a text', () => {
    expect(() => compile('user.name', { variable: 'claims' })).toThrow(
      /is no expression about claims: .*undeclared reference to 'user'/s,
    )
    expect(() => compile('1 +', { variable: 'user' })).toThrow(RangeError)
    expect(() => compile('claims.ok', { variable: 'claims', isRule: true })).toThrow('must evaluate to bool, got dyn')
    expect(compile('user.username != ""', { variable: 'user', isRule: true }).evaluate({ username: 'ann' })).toEqual({
      value: true,
    })
  })
})
