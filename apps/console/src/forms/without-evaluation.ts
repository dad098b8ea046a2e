import { z } from 'zod';

// The policy of the page allows no evaluation, by which zod would compile shapes; it asks for that when it makes them.
z.config({ jitless: true });
