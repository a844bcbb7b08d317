import { judge } from './judge.fixture.ts'
import { evenkeelPlane, planeLacks } from './targets/evenkeel.ts'

// What only controllers do; everything else is asked of the server alone, beside this file.
judge('evenkeel with controllers', {
  start: evenkeelPlane,
  lacks: planeLacks,
  only: ({ needs = [] }) => needs.includes('collector'),
})
