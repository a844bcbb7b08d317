/** The runtime in memory keeps the contract of a container runtime. */
import { SimulatedClock } from 'evenkeel/unstable/base'
import { testRuntime } from './runtime-contract.fixture.ts'
import { SimulatedRuntime } from './simulated-runtime.ts'

testRuntime('in memory', () => {
  const clock = new SimulatedClock()
  const runtime = new SimulatedRuntime({ clock, images: ['app:1'] })
  runtime.setRegistry('denied/app:1', 'denied')
  return Promise.resolve({
    runtime,
    image: 'app:1',
    missingImage: 'missing/app:1',
    deniedImage: 'denied/app:1',
    settle: async () => {
      await clock.advance(100)
    },
    now: () => clock.now(),
  })
})
