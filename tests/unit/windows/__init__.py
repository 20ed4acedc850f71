"""Every window of the driver against every act, each row written from its clause."""
