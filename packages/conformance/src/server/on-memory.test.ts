import { judge } from './judge.fixture.ts'
import { evenkeelTarget } from './targets/evenkeel.ts'

judge('evenkeel in process', { start: evenkeelTarget })
