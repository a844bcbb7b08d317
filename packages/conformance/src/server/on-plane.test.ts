import { judge } from './judge.fixture.ts'
import { evenkeelPlane, needsControllers, planeLacks } from './targets/evenkeel.ts'

// Only cases that need controllers; the other tests here run the rest without controllers.
judge('evenkeel with controllers', {
  start: evenkeelPlane,
  lacks: planeLacks,
  only: needsControllers,
})
