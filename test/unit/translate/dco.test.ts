import test from 'ava';
import { DCO } from './dco.constructs.ts';
import { testConstructs } from './test-constructs.ts';

testConstructs(test, 'dco', DCO);
