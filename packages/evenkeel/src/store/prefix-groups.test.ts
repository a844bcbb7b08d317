import fc from 'fast-check'
import { expect, test } from 'vitest'
import { PrefixGroups } from './watch.ts'

const text = fc.stringMatching(/^[ab/]{0,4}$/)

test('match gives every member exactly the keys with its prefix, in order', () => {
  fc.assert(
    fc.property(
      fc.array(text, { maxLength: 8 }),
      fc.array(text, { maxLength: 12 }),
      fc.nat(7),
      (prefixes, keys, leaving) => {
        const groups = new PrefixGroups<number>()
        for (const [member, prefix] of prefixes.entries()) groups.join(prefix, member)
        const left = prefixes[leaving]
        if (left !== undefined) groups.leave(left, leaving)
        const heard = new Map<number, string[]>()
        for (const [{ members }, items] of groups.match(keys.map((key) => ({ key })))) {
          for (const member of members)
            heard.set(
              member,
              items.map(({ key }) => key),
            )
        }
        for (const [member, prefix] of prefixes.entries()) {
          const expected = member === leaving ? [] : keys.filter((key) => key.startsWith(prefix))
          expect(heard.get(member) ?? []).toEqual(expected)
        }
        expect(groups.isEmpty).toBe(prefixes.length === 0 || (prefixes.length === 1 && left !== undefined))
      },
    ),
  )
})
