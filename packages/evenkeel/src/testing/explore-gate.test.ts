/**
 * One cheap exploration each way: what the contributor's gate runs. explore.test.ts has the rest.
 */
import { expect, test } from 'vitest'
import { controllers, leaking, scenario } from './boxes.fixture.ts'
import { explore } from './explore.ts'

test('every single fault of a right controller is silent', async () => {
  const { failures, schedules } = await explore({ controllers, scenario, schedulesMax: 60 })
  expect(failures).toEqual([])
  expect(schedules).toBeGreaterThan(20)
})

test('a controller that leaks is caught', async () => {
  const { failures } = await explore({ controllers: leaking, scenario, schedulesMax: 60, stories: 0 })
  expect(failures.length).toBeGreaterThan(0)
})
