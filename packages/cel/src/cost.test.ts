import { describe, expect, test } from 'vitest'
import type { DeclType } from './estimate.ts'
import { CompiledExpression, compileExpression, type Evaluation } from './expression.ts'
import { adaptDynamic } from './json.ts'
import { baseEnvironment } from './library/base.ts'
import { intType, listOf, objectType, stringType, type Type } from './types.ts'

const scalar = (type: Type, maxElements = 0): DeclType => ({
  type,
  adapt: adaptDynamic,
  maxElements,
  minSerializedSize: 1,
})

function object(name: string, fields: Readonly<Record<string, DeclType>>): DeclType {
  const types = Object.entries(fields).map(([field, { type }]): [string, Type] => [field, type])
  return {
    ...scalar(objectType(name, new Map(types))),
    fields: new Map(Object.entries(fields)),
  }
}

const port = object('Port', { port: scalar(intType) })
const self = object('Self', {
  name: scalar(stringType, 60),
  ports: { ...scalar(listOf(port.type), 100), element: port },
})
const environment = baseEnvironment.extend({ self: { type: self.type, adapt: adaptDynamic } })

function compile(text: string): CompiledExpression {
  const compiled = compileExpression(text, environment)
  if (!(compiled instanceof CompiledExpression)) throw new Error(compiled.errors)
  return compiled
}

function evaluate(text: string): Evaluation {
  return compile(text).evaluate({ self: { name: `ab${'c'.repeat(23)}`, ports: [{ port: 80 }] } })
}

describe('the worked examples in the file headers hold', () => {
  test('cost.ts: a call is charged by the size of its operands', () => {
    const text = "self.name.startsWith('ab') && self.ports.size() > 0"
    expect(evaluate(text)).toEqual({ value: true, cost: 9 })
    expect(compile(text).estimateCost(self)).toEqual({ min: 3n, max: 7n })
  })

  test('estimate.ts: a loop is estimated by the limit of its list', () => {
    expect(compile('self.ports.all(p, p.port > 0)').estimateCost(self)).toEqual({ min: 3n, max: 603n })
  })

  test('call-estimate.ts: a match is estimated by the lengths of text and pattern', () => {
    expect(compile("self.name.matches('[a-z]+')").estimateCost(self)).toEqual({ min: 4n, max: 16n })
  })
})
