import { judge } from './judge.fixture.ts'
import { evenkeelOverHttps } from './targets/evenkeel.ts'

judge('evenkeel over HTTPS', { start: evenkeelOverHttps, lacks: {} })
