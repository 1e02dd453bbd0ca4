module quotes

go 1.22
