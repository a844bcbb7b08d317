import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import {
  compareElements,
  fieldElement,
  fieldName,
  formatElement,
  formatPath,
  isKeyElement,
  keyElement,
  parseElement,
  valueElement,
} from './path-element.ts'

describe('parseElement', () => {
  const rows: [text: string, canonical: string | undefined][] = [
    ['f:name', 'f:name'],
    ['f:', 'f:'],
    ['f:__proto__', 'f:__proto__'],
    ['f:with:colon', 'f:with:colon'],
    ['k:{"name":"web"}', 'k:{"name":"web"}'],
    ['k:{"b":1,"a":2}', 'k:{"a":2,"b":1}'],
    ['k:{"a": 1.0}', 'k:{"a":1}'],
    ['k:{"protocol":"TCP","containerPort":80}', 'k:{"containerPort":80,"protocol":"TCP"}'],
    ['k:{"n":"a<b"}', 'k:{"n":"a\\u003cb"}'],
    ['k:{"__proto__":1}', 'k:{"__proto__":1}'],
    ['v:"x"', 'v:"x"'],
    ['v: 1', 'v:1'],
    ['v:1e2', 'v:100'],
    ['v:true', 'v:true'],
    ['v:"a&b"', 'v:"a\\u0026b"'],
    ['v:"\\b\\f\\n"', 'v:"\\u0008\\u000c\\n"'],
    ['v:{"b":1,"a":[null]}', 'v:{"a":[null],"b":1}'],
    ['i:3', 'i:3'],
    ['i:+03', 'i:3'],
    ['x:later', undefined],
  ]
  test.each(rows)('reads %s as %s', (text, canonical) => {
    assert.equal(parseElement(text), canonical)
  })

  test.each(['', 'f', 'name', '__proto__', 'k:[1]', 'k:{', 'k:1', 'v:', 'v:x', 'i:x', 'i:', 'i:1.5'])(
    'refuses %s',
    (text) => {
      assert.throws(() => parseElement(text), RangeError)
    },
  )
})

test('elements are ordered by kind and then by what they hold, as upstream writes them', () => {
  const ordered = [
    'f:10',
    'f:9',
    'f:a',
    'f:b',
    'f:\uffff',
    'f:\u{10000}',
    'k:{"a":1}',
    'k:{"a":2}',
    'k:{"a":10}',
    'k:{"a":"1"}',
    'k:{"a":"1","b":0}',
    'k:{"a":true}',
    'k:{"name":"a"}',
    'k:{"name":"a b"}',
    'k:{"name":"a!"}',
    'k:{"name":"ab"}',
    'v:1',
    'v:2.5',
    'v:10',
    'v:"1"',
    'v:"a"',
    'v:false',
    'v:true',
    'v:[1]',
    'v:{"a":1}',
    'v:null',
    'i:2',
    'i:10',
  ]
  assert.deepEqual([...ordered].reverse().sort(compareElements), ordered)
  assert.equal(compareElements('f:a', 'f:a'), 0)
})

test('formatElement shows elements as causes and messages do', () => {
  const rows = [
    ['f:spec', '.spec'],
    ['k:{"a":1,"name":"x\\"y"}', '[a=1,name="x\\"y"]'],
    ['v:"x"', '[="x"]'],
    ['v:1.5', '[=1.5]'],
    ['v:0.00001', '[=1e-05]'],
    ['v:null', '[=null]'],
    ['v:[1,"a"]', '[=[1,"a"]]'],
    ['v:{"a":1}', '[=a=1]'],
    ['i:3', '[3]'],
    ['v:true', '[=true]'],
  ]
  for (const [element = '', shown] of rows) assert.equal(formatElement(element), shown)
  assert.equal(formatPath(['f:spec', 'k:{"name":"a"}', 'f:image']), '.spec[name="a"].image')
})

test('makers of elements agree with the parser', () => {
  assert.equal(
    keyElement([
      ['b', 'x'],
      ['a', 1],
    ]),
    'k:{"a":1,"b":"x"}',
  )
  assert.equal(keyElement([]), 'k:{}')
  assert.equal(valueElement('<'), parseElement('v:"<"'))
  assert.equal(fieldElement('a'), 'f:a')
  assert.equal(fieldName('f:a:b'), 'a:b')
  assert.equal(fieldName('k:{}'), undefined)
  assert.equal(isKeyElement('k:{"f":1}'), true)
  assert.equal(isKeyElement('f:k'), false)
})

test('a key with the same field twice is made canonical: the last one counts, as in Go', () => {
  assert.equal(parseElement('k:{"a":1,"a":2}'), 'k:{"a":2}')
})

test('elements with lists or maps as values have a fixed order', () => {
  const [one, two] = ['v:[1]', 'v:[2]']
  assert.ok(compareElements(one, two) < 0)
  assert.ok(compareElements(two, one) > 0)
  assert.equal(compareElements(one, one), 0)
})
